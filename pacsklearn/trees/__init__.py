"""Growers and predictors of boosted trees and forests."""
