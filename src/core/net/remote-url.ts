import { UNSEEN_CHARACTER } from '../files/relative-path.ts'
import { Problem } from '../problem.ts'

// The limit of old browsers and most servers.
const MAX_LENGTH = 2000

/**
 * Parses the URL of a remote file, and returns it without its fragment, as it is requested and stored. The fetcher
 * checks the address that the host resolves to.
 *
 * @throws Problem 400 that does not repeat the URL: it may contain a secret
 */
export function parseRemoteUrl(text: string): string {
  const expect = (fits: boolean, expected: string) => {
    if (!fits) throw urlNotAllowed(expected)
  }
  expect(text.length <= MAX_LENGTH, `at most ${MAX_LENGTH} characters`)
  // The URL parser would silently remove some of these characters.
  expect(!UNSEEN_CHARACTER.test(text) && text.trim() === text, 'no control characters, nor spaces around it')
  expect(URL.canParse(text), 'an absolute URL, percent-encoded once in a path')
  const url = new URL(text)
  expect(/^https?:$/.test(url.protocol), 'http or https')
  expect(url.username === '' && url.password === '', 'no user name and no password')
  url.hash = ''
  return url.href
}

/** Problem 400 for a URL that may not be fetched. @param expected which URLs are accepted */
export function urlNotAllowed(expected: string): Problem {
  return new Problem({
    status: 400,
    code: 'url_not_allowed',
    detail: `the URL may not be fetched: expected ${expected}`,
  })
}
