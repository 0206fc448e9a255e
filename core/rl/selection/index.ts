/** Which groups, samples and pairs are trained on. */
export * from './balanced-pick.ts';
export * from './group-filter.ts';
export * from './preference-pairs.ts';
