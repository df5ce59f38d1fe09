/** What remains in the example; written by docs/write_trust_example.py. */
export const EXAMPLE = {
  "devices": {
    "mixers": 1,
    "rows": {
      "analyst": {
        "who": "the analyst alone",
        "left": "whole",
        "said": "ε = 1, δ = 10⁻⁶",
        "right": [
          74,
          100
        ]
      },
      "people": {
        "who": "the analyst and 50,000 of 100,000 people",
        "left": "weaker",
        "said": "ε = 1, δ = 0.0003",
        "right": [
          74,
          100
        ]
      },
      "all-but-one-mixer": {
        "who": "the analyst and all other people, but not the collector",
        "left": "nothing",
        "said": "no protection (ε₀ = 112)",
        "right": null
      },
      "all-mixers": {
        "who": "the analyst and the collector",
        "left": "nothing",
        "said": "no protection (ε₀ = 112)",
        "right": null
      },
      "everybody": {
        "who": "everybody but the person's own device",
        "left": "nothing",
        "said": "no protection (ε₀ = 112)",
        "right": null
      },
      "page-host": {
        "who": "whoever serves the web form, for people who use it",
        "left": "nothing",
        "said": "no protection",
        "right": null
      }
    }
  },
  "mixers": {
    "mixers": 3,
    "rows": {
      "analyst": {
        "who": "the analyst alone",
        "left": "whole",
        "said": "ε = 1, δ = 10⁻⁶",
        "right": [
          74,
          100
        ]
      },
      "people": {
        "who": "the analyst and 50,000 of 100,000 people",
        "left": "whole",
        "said": "ε = 1, δ = 10⁻⁶",
        "right": [
          74,
          100
        ]
      },
      "other-mixers": {
        "who": "the analyst and 2 of 3 mixers",
        "left": "whole",
        "said": "ε = 1, δ = 10⁻⁶",
        "right": [
          74,
          100
        ]
      },
      "all-but-one-mixer": {
        "who": "the analyst, all other people and 2 of 3 mixers",
        "left": "whole",
        "said": "ε = 1, δ = 10⁻⁶",
        "right": [
          74,
          100
        ]
      },
      "all-mixers": {
        "who": "the analyst and all 3 mixers",
        "left": "nothing",
        "said": "no protection",
        "right": null
      },
      "everybody": {
        "who": "everybody but the person's own device",
        "left": "nothing",
        "said": "no protection",
        "right": null
      },
      "page-host": {
        "who": "whoever serves the web form, for people who use it",
        "left": "nothing",
        "said": "no protection",
        "right": null
      }
    }
  },
  "both": {
    "mixers": 3,
    "rows": {
      "analyst": {
        "who": "the analyst alone",
        "left": "whole",
        "said": "ε = 1, δ = 8×10⁻²⁰, by flips and dummies together",
        "right": [
          74,
          100
        ]
      },
      "people": {
        "who": "the analyst and 50,000 of 100,000 people",
        "left": "whole",
        "said": "ε = 1, δ = 10⁻⁶",
        "right": [
          74,
          100
        ]
      },
      "other-mixers": {
        "who": "the analyst and 2 of 3 mixers",
        "left": "whole",
        "said": "ε = 1, δ = 10⁻⁶",
        "right": [
          74,
          100
        ]
      },
      "all-but-one-mixer": {
        "who": "the analyst, all other people and 2 of 3 mixers",
        "left": "whole",
        "said": "ε = 1, δ = 10⁻⁶",
        "right": [
          74,
          100
        ]
      },
      "all-mixers": {
        "who": "the analyst and all 3 mixers",
        "left": "nothing",
        "said": "no protection (ε₀ = 112)",
        "right": null
      },
      "everybody": {
        "who": "everybody but the person's own device",
        "left": "nothing",
        "said": "no protection (ε₀ = 112)",
        "right": null
      },
      "page-host": {
        "who": "whoever serves the web form, for people who use it",
        "left": "nothing",
        "said": "no protection",
        "right": null
      }
    }
  }
};
