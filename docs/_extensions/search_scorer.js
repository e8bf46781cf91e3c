// Who types the name of something public, with or without underscores, finds its entry in the reference first.
var Scorer = {
  score: ([, title, , , score, , kind]) => {
    const words = (text) => text.toLowerCase().replace(/^memcurve\.|\(.*\)$/g, "").split(/[\s_]+/).join(" ");
    const query = new URLSearchParams(window.location.search).get("q") ?? "";
    const isNamed = kind === "object" && words(title) === words(query.trim());
    return isNamed ? score + 1000 : score;
  },

  // the rest as Sphinx has it
  objNameMatch: 11,
  objPartialMatch: 6,
  objPrio: { 0: 15, 1: 5, 2: -5 },
  objPrioDefault: 0,
  title: 15,
  partialTitle: 7,
  term: 5,
  partialTerm: 2,
};
