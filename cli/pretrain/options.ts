/** What `npx rollmesh pretrain` is asked. */
import type { ShapeName } from '../../model/shapes.ts';

/** The policy that `npx rollmesh start` begins from. */
export const DEFAULT_NAME = 'arithmetic-base';

/** Steps from one point of the loss curve to the next. */
export const REPORT_EVERY = 50;

export interface PretrainOptions {
  readonly name: string;
  readonly out?: string;
  readonly seed: number;
  readonly steps?: number;
  readonly threads?: number;
  readonly saveEvery?: number;
  readonly shape?: ShapeName;
  readonly from?: string;
}
