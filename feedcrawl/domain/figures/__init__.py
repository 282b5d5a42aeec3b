"""What an article shows beside its text: pictures, players of other sites, formulas."""
