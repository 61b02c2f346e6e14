// Package report renders comparisons: for a terminal, as Markdown, CSV and
// JSON. It only makes bytes and does no input or output. Everything that came
// from outside (model names, labels, reasons, device properties) is escaped
// for the form at hand; CSV and JSON keep it as it was.
//
// The tables have one row for each model. Where the width does not allow that
// (several arms and tests), the widest of these forms that fits is taken:
//
//  1. one row a model;
//  2. one row for each model and test;
//  3. one row for each model, test and arm;
//  4. a stack of lines instead of a table;
//
// each of the tables first with rows of one line, then with numbers on two.
//
// Numbers carry the digits that their interval earns; see Significant and
// Percent. Figures of a simulated device are labelled in the title and at each
// table, in the CSV in each row.
package report
