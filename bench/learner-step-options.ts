/** What a contender of ours is told. */
import type { DeviceSettings } from '../learner/device/device.ts';

export interface StepOptions {
  device: DeviceSettings;
  /** Tokens of a micro-batch; default: everything at once. */
  tokenBudget?: number;
  recompute?: boolean;
}
