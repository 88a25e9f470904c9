package refusal

import "github.com/carillon-scheduler/carillon/job/reason"

// What is wrong with a value, by the contract of the API or by the schema of parameters.
var (
	NotKnown       = reason.None{Sentence: reason.Refuse("not_known", "is not a known field")}
	NotNull        = reason.None{Sentence: reason.Refuse("not_null", "must not be null")}
	NotEmpty       = reason.None{Sentence: reason.Refuse("not_empty", "must not be empty")}
	NotValid       = reason.None{Sentence: reason.Refuse("not_valid", "is not valid")}
	OneOf          = reason.Two{Sentence: reason.Refuse("one_of", "must be {values:phrase} or {last:word}")}
	FewCharacters  = reason.One{Sentence: reason.Refuse("few_characters", "must have at least {least:number} characters")}
	ManyCharacters = reason.One{Sentence: reason.Refuse("many_characters", "must have at most {most:number} characters")}
	FewItems       = reason.One{Sentence: reason.Refuse("few_items", "must have {least:number} or more items")}
	ManyItems      = reason.One{Sentence: reason.Refuse("many_items", "must have at most {most:number} items")}
	AtLeast        = reason.One{Sentence: reason.Refuse("at_least", "must be at least {least:number}")}
	AtMost         = reason.One{Sentence: reason.Refuse("at_most", "must be at most {most:number}")}
	OfType         = reason.One{Sentence: reason.Refuse("of_type", "must be a {type:word}")}
	OfTypeToo      = reason.One{Sentence: reason.Refuse("of_type_too", "must be an {type:word}")}
	OfForm         = reason.One{Sentence: reason.Refuse("of_form", "must match {pattern:free}")}
	AnInstant      = reason.One{Sentence: reason.Refuse("an_instant", "must be an instant in RFC 3339, such as {example:word}")}
	WholeNumber    = reason.One{Sentence: reason.Refuse("whole_number", `"{value:phrase}" must be a whole number`)}
	TrueOrFalse    = reason.One{Sentence: reason.Refuse("true_or_false", `"{value:phrase}" must be true or false`)}

	SchemaType    = reason.Three{Sentence: reason.Refuse("schema_type", "does not fit {of:phrase}: got {got:word}, want {want:phrase}")}
	SchemaLimit   = reason.Three{Sentence: reason.Refuse("schema_limit", "does not fit {of:phrase}: {keyword:word} is {limit:free}")}
	SchemaLacks   = reason.Two{Sentence: reason.Refuse("schema_lacks", "does not fit {of:phrase}: it lacks {names:free}")}
	SchemaUnknown = reason.Two{Sentence: reason.Refuse("schema_unknown", "does not fit {of:phrase}: it must not have {names:free}")}
	SchemaOther   = reason.Two{Sentence: reason.Refuse("schema_other", "does not fit {of:phrase}: {why:free}")}
)
