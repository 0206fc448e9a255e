/** One example of a warm start. */

/** Prompt and completion as text; the loss is on the completion alone. */
export interface Demonstration {
  /** Whose part it is; warm starts may weigh roles differently. */
  readonly role: string;
  readonly prompt: string;
  readonly completion: string;
  /** How much its tokens count; default: what the warm start gives its role. */
  readonly weight?: number;
}
