/** Checkers and renderers in workerd, which forbids `eval` and `new Function`. */
import { verdicts } from './worker-case.ts';

export default { fetch: () => Response.json(verdicts()) };
