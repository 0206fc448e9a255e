/** One example of a warm start. */

/** Prompt and completion as text; the loss is on the completion alone unless the prompt has a weight. */
export interface Demonstration {
  /** Whose part it is; warm starts may weigh roles differently. */
  readonly role: string;
  readonly prompt: string;
  readonly completion: string;
  /** How much its tokens count; default: what the warm start gives its role. */
  readonly weight?: number;
  /** How much the tokens of its prompt count beside those of the completion; default 0: they are read and not learnt. */
  readonly promptWeight?: number;
  /** Stretches of the completion, in characters from its start, that are read and not learnt; tokens begin and end at their bounds. */
  readonly given?: readonly (readonly [from: number, to: number])[];
}
