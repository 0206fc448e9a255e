/** The options of one of this project's own contenders. */
import type { DeviceSettings } from '../../learner/device/device.ts';

export interface StepOptions {
  device: DeviceSettings;
  /** The tokens of a micro-batch; by default the batch is not split. */
  tokenBudget?: number;
  recompute?: boolean;
}
