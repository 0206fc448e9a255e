/** The environment Worker. It knows no recipe, so that every project deploys this one. */
import { environmentWorker } from './worker.ts';

export default environmentWorker();
