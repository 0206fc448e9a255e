/** A refusal by a model endpoint, as OpenAI's clients read it; the fields beside are those of the gateway's other refusals. */

/** `message` says all: what happened, what was expected and what to do next. Other clients show nothing else. */
export const apiError = (status: number, code: string, message: string) => ({
  error: {
    message,
    type: status === 401 ? 'authentication_error' : status < 500 ? 'invalid_request_error' : 'server_error',
    param: null,
    code,
    expected: null,
    next: null,
  },
});
