"""Knowledge of language: words, sentences, and what people do with them."""
