/** The builds of the kernels. */

/**
 * plain: no relaxed SIMD. fused: multiply-adds in one rounding. dot: as plain, but for the relaxed dot product of bytes, which is exact, so
 * that plain and dot give the same bits on every host.
 */
export const BUILDS = ['plain', 'fused', 'dot'] as const;
export type Build = (typeof BUILDS)[number];

/** Compiled modules. One that the host's engine does not accept is absent. */
export type Builds = Readonly<Partial<Record<Build, WebAssembly.Module>>>;
