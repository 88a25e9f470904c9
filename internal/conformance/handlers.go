package conformance

// Handlers lists what the executor under test has to have, by name.
var Handlers = []struct{ Name, Does string }{
	{"echo", "returns its parameters as the result"},
	{"item", "returns the item of its piece as the result"},
	{"fail", "fails with the text of its parameter `message`"},
	{"sleep", "takes its parameter `seconds`, then succeeds; ends at once when it is cancelled"},
	{"lines", "logs its parameter `count` of lines, \"line 1\", \"line 2\" …"},
	{"long", "logs one line of 100,000 times the letter x"},
	{"large", "says its parameter `bytes` times the letter x as its progress, and returns that text after `seconds`"},
	{"stubborn", "takes its parameter `seconds`, also when it is cancelled"},
	{"start", "starts a run of each of its parameter `jobs`, with the parameters {\"n\": 1}, and returns their ids; fails with the text of a refusal. Only if handlers can start runs"},
	{"nan", "returns {\"ratio\": NaN}, in a language that has it"},
}
