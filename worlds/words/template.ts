/** The chat template of the policy `words`, with the tokens that it is made of. */

/** Tokens that structure a conversation. */
export const CONTROL_TOKENS = ['<|pad|>', '<|system|>', '<|user|>', '<|assistant|>', '<|end|>'] as const;
/** Marks inside an answer. A message may hold them, as one does that shows somebody's solution. */
export const MARKS = ['<think>', '</think>', '<answer>', '</answer>'] as const;
export const END = '<|end|>';

/**
 * With `enable_thinking` true an answer begins with its steps, with false it has none; where it is not given, the policy chooses.
 *
 *     <|system|>…<|end|><|user|>…<|end|><|assistant|>…<|end|>
 */
export const WORDS_TEMPLATE = `
{%- for message in messages %}
    {%- if message.role == 'tool' %}
        {{- raise_exception('this policy has no tools: a message of the role tool cannot be written') }}
    {%- endif %}
    {{- '<|' + message.role + '|>' + message.content + '<|end|>' }}
{%- endfor %}
{%- if tools %}
    {{- raise_exception('this policy has no tools') }}
{%- endif %}
{%- if add_generation_prompt %}
    {{- '<|assistant|>' }}
    {%- if enable_thinking is defined %}
        {{- '<think>' if enable_thinking else '<answer>' }}
    {%- endif %}
{%- endif %}`;
