/** Estimators of advantages and returns: they turn rewards into the credit of each token. */
export * from './class-balanced.ts';
export * from './ema-baseline.ts';
export * from './gae.ts';
export * from './group-centred.ts';
export * from './grpo.ts';
export * from './hierarchical-grpo.ts';
export * from './implicit-process.ts';
export * from './leave-one-out.ts';
export * from './maxrl.ts';
export * from './mean-centred.ts';
export * from './process-grpo.ts';
export * from './raw.ts';
export * from './reinforce-plus-plus.ts';
export * from './returns.ts';
export * from './rloo.ts';
export * from './task-relative.ts';
