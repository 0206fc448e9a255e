/** Corrections for samples from a distribution other than the trainer's, and the estimates of KL that they share. */
export * from './adaptive-kl.ts';
export * from './importance.ts';
export * from './kl.ts';
export * from './mismatch.ts';
export * from './off-policy-mask.ts';
export * from './staleness.ts';
