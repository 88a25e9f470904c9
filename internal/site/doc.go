// Command site builds the documentation as static pages into .release/site: the Markdown files that README.md and
// docs/README.md lead to, a page of the API from its contract, and llms.txt. VitePress renders them.
package main
