import type { Random } from '../../contracts/random.ts'

/** What parsers stumble over: steps up, odd numbers, ends of lines, header lines, pieces of forms and of JSON. */
const WORDS = [
  ...[
    '../',
    '..%2f',
    '%2e%2e/',
    '%252e%252e%252f',
    '..\\',
    '%c0%ae%c0%ae/',
    '%e0%80%ae/',
    '%00',
    '\0',
    '%',
    '%zz',
    '%ff',
  ],
  ...[
    '0',
    '-0',
    '-1',
    'NaN',
    'Infinity',
    '1e309',
    '1e-400',
    '9007199254740993',
    '99999999999999999999',
    '0x10',
    '٥',
  ],
  ...[
    '\r\n',
    '\n',
    '\r',
    '\r\n\r\n',
    ' ',
    '\t',
    '\x0b',
    ';',
    ',',
    '"',
    "'",
    '{',
    '}',
    '[',
    ']',
    '<',
    '>',
    '|',
    '\x7f',
  ],
  ...[
    '&w=1',
    '&w=',
    '?w=NaN',
    '&f=webp',
    '&q=1e309',
    '&download',
    '&path=../x',
    '&a[b]=1',
    '&__proto__[w]=1',
    '#',
    '&&',
  ],
  ...[
    '\r\nContent-Length: 0',
    '\r\nContent-Length: 5',
    '\r\nTransfer-Encoding: chunked',
    '\r\nHost: y',
    '\r\nUpgrade: h2c',
  ],
  ...[
    '\r\nRange: bytes=0-0',
    '\r\nRange: bytes=-1,0-,5-2',
    '\r\nRange: bytes=NaN-',
    '\r\nIf-Range: "x"',
    '\r\nIf-Match: *',
  ],
  ...[
    '\r\nExpect: 100-continue',
    '\r\nContent-Encoding: gzip',
    '\r\nConnection: close',
    '\r\nAccept: */*;q=NaN',
    '\r\nVia: x',
  ],
  ...[
    '--b',
    '--b--',
    '\r\n--b\r\n',
    'name="file"',
    '; filename=""',
    "; filename*=UTF-8''%ff",
    'boundary=',
    'form-data',
  ],
  ...[
    '"__proto__":{"w":1},',
    '"constructor":',
    'null',
    'true',
    '\\u0000',
    '\\ud800',
    '[[[[',
    '{"a":',
    '1e309',
    '-0',
  ],
  ...[
    'HEAD ',
    'POST ',
    'DELETE ',
    'OPTIONS * ',
    'HTTP/1.0',
    'HTTP/9.9',
    '.sluice/',
    'first/',
    '/etc/passwd',
    '\xff\xfe',
    '💥',
  ],
].map((word) => Buffer.from(word))

type Mutator = (bytes: Buffer, random: Random, corpus: readonly Buffer[]) => Buffer

const MUTATORS: readonly Mutator[] = [
  function flipBit(bytes, random) {
    const at = random.below(bytes.length)
    const flipped = Buffer.from(bytes)
    flipped[at] = (flipped[at] ?? 0) ^ (1 << random.below(8))
    return flipped
  },
  function insertWord(bytes, random) {
    const at = random.below(bytes.length + 1)
    return Buffer.concat([bytes.subarray(0, at), random.oneOf(WORDS), bytes.subarray(at)])
  },
  function repeatWord(bytes, random) {
    const at = random.below(bytes.length + 1)
    const words = Array.from({ length: 1 + random.below(300) }, () => random.oneOf(WORDS))
    const same = words.map(() => words[0] as Buffer)
    return Buffer.concat([bytes.subarray(0, at), ...random.oneOf([words, same]), bytes.subarray(at)])
  },
  function overwrite(bytes, random) {
    const [from, to] = span(bytes, random, 8)
    return Buffer.concat([bytes.subarray(0, from), random.oneOf(WORDS), bytes.subarray(to)])
  },
  function remove(bytes, random) {
    const [from, to] = span(bytes, random, 60)
    return Buffer.concat([bytes.subarray(0, from), bytes.subarray(to)])
  },
  function repeat(bytes, random) {
    const [from, to] = span(bytes, random, 200)
    return Buffer.concat([bytes.subarray(0, to), bytes.subarray(from)])
  },
  function number(bytes, random) {
    const text = bytes.toString('latin1')
    const numbers = [...text.matchAll(/\d+/g)]
    if (numbers.length === 0) return bytes
    const { 0: digits, index } = random.oneOf(numbers)
    const other = random.oneOf([
      '0',
      '-0',
      '-1',
      '1',
      '7',
      '1e309',
      'NaN',
      '4294967296',
      '18446744073709551616',
      '00',
    ])
    return Buffer.from(text.slice(0, index) + other + text.slice(index + digits.length), 'latin1')
  },
  function crossOver(bytes, random, corpus) {
    const other = random.oneOf(corpus)
    return Buffer.concat([
      bytes.subarray(0, random.below(bytes.length)),
      other.subarray(random.below(other.length)),
    ])
  },
  function cutOff(bytes, random) {
    return bytes.subarray(0, 1 + random.below(bytes.length))
  },
]

function span(bytes: Buffer, random: Random, most: number): [from: number, to: number] {
  const from = random.below(bytes.length)
  return [from, Math.min(bytes.length, from + 1 + random.below(most))]
}

/**
 * One of these requests, changed in one to three places: of its address, its headers, its body, or of all of it, where
 * most changes leave nothing that could be read as a request. Never empty.
 */
export function mutated(corpus: readonly Buffer[], random: Random): Buffer {
  const whole = random.oneOf(corpus)
  const change = (bytes: Buffer) => {
    let changed = bytes
    for (let times = 1 + random.below(3); times > 0; times -= 1)
      if (changed.length > 0) changed = random.oneOf(MUTATORS)(changed, random, corpus)
    return changed
  }
  const query = whole.indexOf('?') + 1
  // The query alone, half of the times: most changes of a path name nothing that is there.
  const from = query > 0 && random.below(2) === 0 ? query : whole.indexOf(' ') + 1
  const to = whole.indexOf(' HTTP/')
  const end = whole.indexOf('\r\n\r\n')
  const body = whole.subarray(end + 4)
  switch (random.below(body.length > 0 ? 8 : 5)) {
    case 0: {
      const bytes = change(whole)
      return bytes.length > 0 ? bytes : whole
    }
    case 1:
      return Buffer.concat([whole.subarray(0, to), change(whole.subarray(to, end)), whole.subarray(end)])
    case 2:
    case 3:
    case 4:
      return Buffer.concat([
        whole.subarray(0, from),
        encoded(change(whole.subarray(from, to))),
        whole.subarray(to),
      ])
    default:
      return withLength(whole.subarray(0, end + 4), change(body))
  }
}

/** The text as it may be in a request line. */
function encoded(target: Buffer): Buffer {
  const text = target
    .toString('latin1')
    .replace(/[^!-~]/g, (c) => `%${c.charCodeAt(0).toString(16).padStart(2, '0')}`)
  return Buffer.from(text)
}

/** The head states the length of the changed body, unless the body is chunked. */
function withLength(head: Buffer, body: Buffer): Buffer {
  const text = head.toString('latin1').replace(/Content-Length: \d+/, `Content-Length: ${body.length}`)
  return Buffer.concat([Buffer.from(text, 'latin1'), body])
}
