"""One module for each kind of question; `krand.survey.questions` lists them."""
