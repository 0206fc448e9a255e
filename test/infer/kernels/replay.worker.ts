/** The replay in a Worker: answers with a form's digest. */
import type { Form } from '../../../infer/kernels/forms.ts';
import { workerdEngines } from '../../../infer/workerd-engines.ts';
import { digestOf } from './replay.ts';

export default {
  async fetch(request: Request): Promise<Response> {
    const form = new URL(request.url).pathname.slice(1) as Form;
    return new Response(await digestOf(workerdEngines.kernels(), form));
  },
};
