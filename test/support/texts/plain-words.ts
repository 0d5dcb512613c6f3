type Word = [pattern: RegExp, plain: string]

/** A word or phrase that readers misunderstand or do not search for, and the plain form to write instead. */
export const WORDS: readonly Word[] = [
  [/\bpass(?:es|ed|ing)? over\b/, 'ignored'],
  [/\banew\b/, 'again'],
  [/\b(?:goes|go|went|gone) on\b(?! (?:the|a|an|its|disk|top)\b)/, 'continues'],
  [/\bst(?:ands?|ood) in (?:a|the|its|this|that) (?:list|table|index)\b/, 'is listed'],
  [/\bst(?:ands?|anding|ood) for\b/, 'means'],
  [/\bt(?:ells?|old|elling) (?:\w+ )?apart\b/, 'distinguished'],
  [/\b(?:is|are|was|were|be|been) told\b(?! apart)/, 'is notified, returns, states'],
  [/\b(?:tells|says)\b(?! (?:\w+ )?apart)/, 'states, returns'],
  [/\bwhat is made (?:of|from|out of)\b/, 'video transformations, derivatives of …'],
  [/(?<!in )\bthe making of\b/, 'the transcode, the media job'],
  [/\bin the making\b|\bbeing made\b/, 'in progress'],
  [/\bfor good\b(?! (?:reasons?|measure|results?|quality)\b)/, 'permanently'],
  [/\bbeside\b/, 'next to, in addition to, compared with'],
  [/\b(?:is|are|was|were|has|have) none\b/, 'there is no …, invalid'],
  [/\b(?:URL|link|signature|token|secret)s? (?:has|have|had) ended\b/, 'has expired'],
  [/\bask(?:s|ed)? for\b/, 'requested'],
  [/\bmeanwhile\b/, 'in the meantime, since then'],
  [/\bkept\b/, 'stored, retained, cached'],
  [/\bgone\b(?! on)/, 'deleted, expired, disconnected'],
  [
    /\b(?:picture|image|derivative|thumbnail|frame|video|stream|waveform|file|link|token|secret)s?(?: that| which)?(?: (?:is|are|was|were|has been|have been))? made\b/,
    'rendered, created',
  ],
  [
    /\b(?:whoever|(?:some|no|every|any)body|someone|everyone|anyone|who asks)\b/,
    'the client, the caller, the operator',
  ],
]

/** The same for messages: in pages, which have room for a sentence around them, these words have good uses. */
export const MESSAGE_WORDS: readonly Word[] = [
  [/\bha(?:s|ve|d) ended\b/, 'has expired, exited, stopped'],
  [/\b(?:is|are|was|were|be|been) made\b/, 'rendered, created'],
  [/\bstands?\b(?! for)/, 'is, is listed'],
  [/\b(?:tell|told)\b/, 'notify, return, state'],
  [/\b(?:would|will) be one more\b/, 'too many …'],
  [/\bnot any more\b/, 'expired, deleted'],
]

/** A word to avoid in a text, with the index of its first character. */
export interface WordToAvoid {
  index: number
  word: string
  plain: string
}

/** The words of a table in a text, in the order of the table. A phrase may continue on the next line. */
export function wordsToAvoid(text: string, words: readonly Word[] = WORDS): WordToAvoid[] {
  return words.flatMap(([pattern, plain]) =>
    [...text.matchAll(new RegExp(pattern.source.replaceAll(' ', '\\s+'), 'gi'))].map(
      ({ 0: word, index }) => ({
        index,
        word: word.replace(/\s+/g, ' '),
        plain,
      }),
    ),
  )
}

/** The number of the line of an index in a text, from 1. */
export function lineOf(text: string, index: number): number {
  return text.slice(0, index).split('\n').length
}
