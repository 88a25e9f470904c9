package otlp

import (
	"math"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/sdk/instrumentation"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"
	commonpb "go.opentelemetry.io/proto/otlp/common/v1"
	resourcepb "go.opentelemetry.io/proto/otlp/resource/v1"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
)

// resources returns spans as OTLP groups them: by resource, and by what made them.
func resources(spans []sdktrace.ReadOnlySpan) (all []*tracepb.ResourceSpans) {
	type key struct {
		resource attribute.Distinct
		scope    instrumentation.Scope
	}
	byResource := map[attribute.Distinct]*tracepb.ResourceSpans{}
	byScope := map[key]*tracepb.ScopeSpans{}
	for _, s := range spans {
		k := key{s.Resource().Equivalent(), s.InstrumentationScope()}
		r := byResource[k.resource]
		if r == nil {
			r = &tracepb.ResourceSpans{
				Resource:  &resourcepb.Resource{Attributes: attributes(s.Resource().Attributes())},
				SchemaUrl: s.Resource().SchemaURL(),
			}
			byResource[k.resource] = r
			all = append(all, r)
		}
		group := byScope[k]
		if group == nil {
			group = &tracepb.ScopeSpans{
				Scope: &commonpb.InstrumentationScope{
					Name: k.scope.Name, Version: k.scope.Version, Attributes: attributes(k.scope.Attributes.ToSlice()),
				},
				SchemaUrl: k.scope.SchemaURL,
			}
			byScope[k] = group
			r.ScopeSpans = append(r.ScopeSpans, group)
		}
		group.Spans = append(group.Spans, span(s))
	}
	return all
}

func span(s sdktrace.ReadOnlySpan) *tracepb.Span {
	id := s.SpanContext()
	traceID, spanID, parent := id.TraceID(), id.SpanID(), s.Parent().SpanID()
	to := &tracepb.Span{
		TraceId:                traceID[:],
		SpanId:                 spanID[:],
		TraceState:             id.TraceState().String(),
		Flags:                  flags(id, s.Parent()),
		Name:                   s.Name(),
		Kind:                   tracepb.Span_SpanKind(max(s.SpanKind(), trace.SpanKindInternal)), //nolint:gosec // five kinds, with OTLP's numbers
		StartTimeUnixNano:      nanoseconds(s.StartTime()),
		EndTimeUnixNano:        nanoseconds(s.EndTime()),
		Attributes:             attributes(s.Attributes()),
		DroppedAttributesCount: count(s.DroppedAttributes()),
		DroppedEventsCount:     count(s.DroppedEvents()),
		DroppedLinksCount:      count(s.DroppedLinks()),
		Status:                 status(s.Status()),
	}
	if parent.IsValid() {
		to.ParentSpanId = parent[:]
	}
	for _, e := range s.Events() {
		to.Events = append(to.Events, &tracepb.Span_Event{
			Name: e.Name, TimeUnixNano: nanoseconds(e.Time), Attributes: attributes(e.Attributes),
			DroppedAttributesCount: count(e.DroppedAttributeCount),
		})
	}
	for _, l := range s.Links() {
		linkedTrace, linkedSpan := l.SpanContext.TraceID(), l.SpanContext.SpanID()
		to.Links = append(to.Links, &tracepb.Span_Link{
			TraceId: linkedTrace[:], SpanId: linkedSpan[:], TraceState: l.SpanContext.TraceState().String(),
			Flags: flags(l.SpanContext, l.SpanContext), Attributes: attributes(l.Attributes),
			DroppedAttributesCount: count(l.DroppedAttributeCount),
		})
	}
	return to
}

// flags returns W3C's flags of a span, and whether another process made the one that it refers to.
func flags(id, other trace.SpanContext) uint32 {
	f := uint32(id.TraceFlags()) | uint32(tracepb.SpanFlags_SPAN_FLAGS_CONTEXT_HAS_IS_REMOTE_MASK)
	if other.IsRemote() {
		f |= uint32(tracepb.SpanFlags_SPAN_FLAGS_CONTEXT_IS_REMOTE_MASK)
	}
	return f
}

func status(s sdktrace.Status) *tracepb.Status {
	to := &tracepb.Status{Message: s.Description}
	switch s.Code { //nolint:exhaustive // unset is zero
	case codes.Ok:
		to.Code = tracepb.Status_STATUS_CODE_OK
	case codes.Error:
		to.Code = tracepb.Status_STATUS_CODE_ERROR
	}
	return to
}

func nanoseconds(t time.Time) uint64 { return uint64(max(0, t.UnixNano())) }

func count(n int) uint32 { return uint32(min(max(0, n), math.MaxUint32)) }

func attributes(all []attribute.KeyValue) []*commonpb.KeyValue {
	to := make([]*commonpb.KeyValue, 0, len(all))
	for _, a := range all {
		to = append(to, &commonpb.KeyValue{Key: string(a.Key), Value: value(a.Value)})
	}
	return to
}

func value(v attribute.Value) *commonpb.AnyValue {
	switch v.Type() { //nolint:exhaustive // of all others, the text
	case attribute.EMPTY:
		return &commonpb.AnyValue{}
	case attribute.BOOL:
		return &commonpb.AnyValue{Value: &commonpb.AnyValue_BoolValue{BoolValue: v.AsBool()}}
	case attribute.INT64:
		return &commonpb.AnyValue{Value: &commonpb.AnyValue_IntValue{IntValue: v.AsInt64()}}
	case attribute.FLOAT64:
		return &commonpb.AnyValue{Value: &commonpb.AnyValue_DoubleValue{DoubleValue: v.AsFloat64()}}
	case attribute.BOOLSLICE:
		return array(v.AsBoolSlice(), attribute.BoolValue)
	case attribute.INT64SLICE:
		return array(v.AsInt64Slice(), attribute.Int64Value)
	case attribute.FLOAT64SLICE:
		return array(v.AsFloat64Slice(), attribute.Float64Value)
	case attribute.STRINGSLICE:
		return array(v.AsStringSlice(), attribute.StringValue)
	case attribute.BYTESLICE:
		return &commonpb.AnyValue{Value: &commonpb.AnyValue_BytesValue{BytesValue: v.AsByteSlice()}}
	case attribute.SLICE:
		return array(v.AsSlice(), func(v attribute.Value) attribute.Value { return v })
	case attribute.MAP:
		return &commonpb.AnyValue{Value: &commonpb.AnyValue_KvlistValue{KvlistValue: &commonpb.KeyValueList{Values: attributes(v.AsMap())}}}
	}
	return &commonpb.AnyValue{Value: &commonpb.AnyValue_StringValue{StringValue: v.String()}}
}

func array[T any](all []T, of func(T) attribute.Value) *commonpb.AnyValue {
	to := &commonpb.ArrayValue{}
	for _, one := range all {
		to.Values = append(to.Values, value(of(one)))
	}
	return &commonpb.AnyValue{Value: &commonpb.AnyValue_ArrayValue{ArrayValue: to}}
}
