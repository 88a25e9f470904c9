{{- define "carillon.labels" -}}
app.kubernetes.io/name: carillon
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
{{- end }}

{{- define "carillon.scrape" -}}
{{- if not .root.Values.serviceMonitor -}}
annotations: {prometheus.io/scrape: "true", prometheus.io/port: {{ .port | quote }}}
{{- end }}
{{- end }}
