"""One step at one table: engines perform it, the model predicts it, and the outcome is compared."""
