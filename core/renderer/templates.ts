/** The project's own templates, for policies that bring none. */

/**
 * The tags of the small policies: one question, one answer, both in the tag notation of a task family.
 *
 *     <solve>question<sep>answer<eos>
 */
export const TAGS_TEMPLATE = `
{%- if messages[0].role != 'user' or messages | length > 2 or (messages | length == 2 and messages[1].role != 'assistant') %}
    {{- raise_exception('the tag notation has one question and one answer, without a system message') }}
{%- endif %}
{{- '<solve>' + messages[0].content + '<sep>' }}
{%- if messages | length == 2 %}
    {{- messages[1].content + '<eos>' }}
{%- endif %}`;

/**
 * Plain text for base models. An answer goes on after "Answer:", and a next question ends it.
 *
 *     instructions
 *
 *     Question: …
 *     Answer: …
 *
 *     Question: …
 *     Answer:
 */
export const PLAIN_TEMPLATE = `
{{- bos_token }}
{%- for message in messages %}
    {%- if message.role == 'system' %}
        {{- message.content + '\\n\\n' }}
    {%- elif message.role == 'user' %}
        {{- 'Question: ' + message.content + '\\n' }}
    {%- elif message.role == 'assistant' %}
        {{- 'Answer:' + ('' if message.content[:1] == ' ' else ' ') + message.content + '\\n\\n' }}
    {%- else %}
        {{- raise_exception('plain text has no message of the role ' + message.role) }}
    {%- endif %}
{%- endfor %}
{%- if tools %}
    {{- raise_exception('plain text has no tools') }}
{%- endif %}
{%- if add_generation_prompt %}
    {{- 'Answer:' }}
{%- endif %}`;

/** The strings that end an answer in plain text. */
export const PLAIN_STOPS: readonly string[] = ['\n\nQuestion:'];
