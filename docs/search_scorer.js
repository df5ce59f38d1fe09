// A page whose heading is what somebody asks for comes before pages that have its words somewhere.
var Scorer = {
  score: ([, , , , score, , kind]) => score + (kind === "title" ? 100 : 0),
  objNameMatch: 11,
  objPartialMatch: 6,
  objPrio: { 0: 15, 1: 5, 2: -5 },
  objPrioDefault: 0,
  title: 15,
  partialTitle: 7,
  term: 5,
  partialTerm: 2,
};
