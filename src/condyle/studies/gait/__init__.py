"""From a trial to gait cycles: foot strikes and toe-offs, strides in percent, powers."""
