import { UNSEEN_CHARACTER } from '../files/relative-path.ts'
import { Problem } from '../problem.ts'

// As old browsers and most servers take them.
const MAX_LENGTH = 2000

/**
 * The URL of a remote file, as it is asked for and remembered: without its fragment. Where it leads is for the fetcher to
 * check.
 *
 * @throws Problem 400 that does not repeat it: it may hold a secret
 */
export function parseRemoteUrl(text: string): string {
  const expect = (fits: boolean, expected: string) => {
    if (!fits) throw urlNotAllowed(expected)
  }
  expect(text.length <= MAX_LENGTH, `at most ${MAX_LENGTH} characters`)
  // A URL would be read without some of these.
  expect(!UNSEEN_CHARACTER.test(text) && text.trim() === text, 'no control characters, nor spaces around it')
  expect(URL.canParse(text), 'an absolute URL, percent-encoded once in a path')
  const url = new URL(text)
  expect(/^https?:$/.test(url.protocol), 'http or https')
  expect(url.username === '' && url.password === '', 'no user name and no password')
  url.hash = ''
  return url.href
}

/** 400: a URL that leads where we do not go; `expected` is where we do. */
export function urlNotAllowed(expected: string): Problem {
  return new Problem({
    status: 400,
    code: 'url_not_allowed',
    detail: `the URL may not be fetched: expected ${expected}`,
  })
}
