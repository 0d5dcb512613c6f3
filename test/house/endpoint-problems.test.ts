import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'chai'
import { COMMON_PROBLEMS } from '../../src/http/documents/common-problems.ts'
import { ENDPOINTS } from '../../src/http/endpoints.ts'
import { undocumented } from '../support/texts/documented-problems.ts'

/** Of the `sluice` command, not of an endpoint. */
const OF_THE_COMMAND = ['400 bad_command']
/** Express answers any 4xx with it. */
const ANY_STATUS = 'bad_request'

describe('the problems of each endpoint', () => {
  const listed = new Set([...COMMON_PROBLEMS, ...ENDPOINTS.flatMap(({ problems }) => problems)])

  it('are those of the page of all codes, with the same statuses', () => {
    const page = readFileSync(join('docs', 'reference', 'errors.md'), 'utf8')
    const rows = page.matchAll(/^\| `([a-z_]+)` \| (\d{3}(?:, \d{3})*) \|/gm)
    const all = [...rows].flatMap(([, code, statuses = '']) =>
      statuses.split(', ').map((status) => `${status} ${code}`),
    )
    expect([...listed, ...OF_THE_COMMAND].sort()).to.deep.equal(all.sort())
  })

  it('are not those that every endpoint has', () => {
    for (const { route, problems } of ENDPOINTS)
      expect(
        problems.filter((problem) => COMMON_PROBLEMS.includes(problem)),
        route,
      ).to.deep.equal([])
  })

  it('are compared with what the tests of the service see', () => {
    const route = '/v1/files/*path'
    expect(
      undocumented([
        { method: 'HEAD', route, status: 404, code: 'file_not_found' },
        { method: 'GET', route, status: 200 },
        { method: 'GET', status: 401, code: 'not_signed_in' },
        { method: 'GET', route, status: 431, code: ANY_STATUS },
        { method: 'GET', route, status: 500, code: 'internal' },
        { method: 'GET', route, code: 'link_busy' },
        { method: 'GET', route, status: 206, code: 'file_damaged' },
      ]),
    ).to.deep.equal([])
    expect(
      undocumented([
        { method: 'GET', route, status: 409, code: 'link_busy' },
        { method: 'POST', route: '/v1/nowhere', status: 404, code: 'file_not_found' },
        { method: 'GET', status: 400, code: 'not_a_code' },
      ]),
    ).to.deep.equal([
      `GET ${route} 409 link_busy`,
      'POST /v1/nowhere 404 file_not_found',
      'GET undefined 400 not_a_code',
    ])
  })
})
