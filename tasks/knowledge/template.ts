/** The chat template of the policies that search: a conversation in the notation of a search episode. */
import { characterTokenizer } from '../../core/text/characters.ts';

/**
 * They know one tool, whatever its name is, with one argument `query`; a policy that was taught it needs not be told of it in the prompt. An answer
 * is content as it stands, tag included.
 *
 *     <solve>question<sep>   <step>?query<eos>   result<sep>   <answer>name<eos>
 */
const SEARCH_TEMPLATE = `
{%- if tools and (tools | length > 1 or 'query' not in tools[0].function.parameters.properties) %}
    {{- raise_exception('this policy knows one tool, with the argument query') }}
{%- endif %}
{%- for message in messages %}
    {%- if message.role == 'user' and loop.first %}
        {{- '<solve>' + message.content + '<sep>' }}
    {%- elif message.role == 'assistant' %}
        {{- message.content }}
        {%- if message.tool_calls %}
            {{- '<step>?' + message.tool_calls[0].function.arguments.query }}
        {%- endif %}
        {{- '<eos>' }}
    {%- elif message.role == 'tool' %}
        {{- message.content + '<sep>' }}
    {%- else %}
        {{- raise_exception('this policy reads one question, then its own answers and what its searches found') }}
    {%- endif %}
{%- endfor %}`;

export const searchTokenizer = () => ({
  ...characterTokenizer(),
  config: {
    tokenizer_class: 'PreTrainedTokenizerFast',
    chat_template: SEARCH_TEMPLATE,
    eos_token: '<eos>',
    pad_token: '<pad>',
    clean_up_tokenization_spaces: false,
  },
});
