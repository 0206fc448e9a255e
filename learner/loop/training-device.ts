/**
 * The device of a learner that runs for long: the first policy's size decides which one it is, and an evaluation, which loads the policy into the
 * runtime of the rollouts, need not find the training's memory beside it.
 */
import type { ModelConfig } from '../../model/config.ts';
import type { Device } from '../device/device.ts';
import { type ChoiceSettings, chooseDevice, openIfOnly } from '../nn/device-trial.ts';
import type { RoundTrainer } from '../train/round-trainer.ts';

/** Training's memory is given back for an evaluation where it is more than this part of what the machine has left. */
const LARGE = 0.25;

export class TrainingDevice {
  #settings: ChoiceSettings;
  #device: Device | undefined;
  readonly #chosen: (description: string, why: string | undefined) => void;

  private constructor(
    settings: ChoiceSettings,
    chosen: (description: string, why: string | undefined) => void,
    device: Device | undefined,
  ) {
    this.#settings = settings;
    this.#chosen = chosen;
    this.#device = device;
  }

  /** Opens the device at once, unless there are several to choose from. `chosen` is told of a choice. */
  static async start(
    settings: ChoiceSettings,
    chosen: (description: string, why: string | undefined) => void,
  ): Promise<TrainingDevice> {
    return new TrainingDevice(settings, chosen, (await openIfOnly(settings))?.device);
  }

  /** The device in words; before a choice, the name that was asked for. */
  get description(): string {
    return this.#device?.description ?? this.#settings.device;
  }

  /** Makes sure that a device is open, for the trainer to call before it places a policy. */
  readonly open = async (config: ModelConfig): Promise<void> => {
    if (this.#device) return;
    const { device, why } = await chooseDevice(this.#settings, config);
    this.#device = device;
    if (this.#settings.device === 'auto') this.#chosen(device.description, why);
    this.#settings = { ...this.#settings, device: device.kind };
  };

  /** Gives training's memory back if it is large beside what the machine has left; the next round loads its version again. Returns the bytes given back. */
  makeRoom(trainer: Pick<RoundTrainer, 'dispose'>): number {
    const held = this.#device?.heldBytes() ?? 0;
    if (!this.#device || held <= LARGE * process.availableMemory()) return 0;
    trainer.dispose();
    this.#device.close();
    this.#settings = { ...this.#settings, device: this.#device.kind };
    this.#device = undefined;
    return held;
  }
}
