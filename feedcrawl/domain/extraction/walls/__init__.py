"""Recognition of pages that stand in place of the article: paywalls, challenges, consent."""
