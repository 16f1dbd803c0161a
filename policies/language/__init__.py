"""What language looks like: words, sentences, and what people do with them."""
