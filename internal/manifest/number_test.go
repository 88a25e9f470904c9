package manifest

import "testing"

func TestNumbersAreReadAsTheyWereTyped(t *testing.T) {
	for _, number := range []string{
		"1234567890123456789", "9007199254740993", "123456789012345678901234567890", "-123456789012345678901234567890",
		"1e400", "-1E+400", "1e5", "0.1000", "-0", "0", "-0.0", "1.10",
	} {
		docs, err := Parse("x.yaml", []byte("job: a/b\nparams: {id: "+number+", list: ["+number+", '"+number+"']}\ntext: \""+number+"\"\n"))
		want := `{"job":"a/b","params":{"id":` + number + `,"list":[` + number + `,"` + number + `"]},"text":"` + number + `"}`
		if err != nil || string(docs[0].JSON) != want {
			t.Errorf("%s: %v\ngot  %s\nwant %s", number, err, docs[0].JSON, want)
		}
	}
}
