import { expect } from 'chai'
import { EXAMPLE_FILE } from '../../../src/http/documents/examples.ts'
import { type SeenResponse, undocumented } from '../../support/openapi/response-check.ts'

const LIST: SeenResponse = {
  method: 'GET',
  route: '/v1/files',
  group: 'files',
  status: 200,
  headers: { 'content-type': 'application/json; charset=utf-8', 'cache-control': 'no-store' },
  json: JSON.stringify({ files: [EXAMPLE_FILE], cursor: null }),
  hasBody: true,
}

function problem(status: number, code: string, members: object = {}): SeenResponse {
  const common = {
    type: `urn:sluice:problem:${code}`,
    title: 'No',
    status,
    detail: 'No.',
    code,
    instance: '1',
  }
  return {
    ...LIST,
    status,
    headers: { 'content-type': 'application/problem+json; charset=utf-8' },
    json: JSON.stringify({ ...common, ...members }),
  }
}

describe('the check of responses against the API document', () => {
  const documented: Array<[string, SeenResponse]> = [
    ['a list', LIST],
    ['the headers of a list', { ...LIST, method: 'HEAD', json: '', hasBody: false }],
    ['a problem of the endpoint', problem(401, 'unauthorized')],
    ['a problem of every endpoint', problem(503, 'unavailable', { retryAfterSeconds: 5 })],
    ['a guard before the routes', { ...problem(401, 'not_signed_in'), route: undefined }],
    ['a method that is not allowed', { ...problem(405, 'method_not_allowed'), method: 'PUT' }],
    ['a file', { ...delivered(), headers: { 'content-type': 'image/png', 'cache-control': 'public' } }],
  ]
  for (const [name, seen] of documented)
    it(`accepts ${name}`, () => {
      expect(undocumented(seen)).to.equal(undefined)
    })

  const { sha256: _, ...incomplete } = EXAMPLE_FILE
  const refused: Array<[string, SeenResponse, RegExp]> = [
    ['a route', { ...LIST, route: '/v1/secrets' }, /undocumented route/],
    ['a method', { ...LIST, method: 'PUT' }, /content type application\/json/],
    ['a status', { ...LIST, status: 201 }, /content type application\/json/],
    ['a code', problem(404, 'file_not_found'), /code file_not_found/],
    ['a code of another status', problem(409, 'unauthorized'), /code unauthorized/],
    ['another status in the body', { ...problem(401, 'unauthorized'), status: 403 }, /status 401/],
    ['a code of a guard', { ...problem(404, 'none'), route: undefined }, /code none/],
    ['a member of a problem', problem(401, 'unauthorized', { secret: 'a' }), /additional properties/],
    ['a member', { ...LIST, json: JSON.stringify({ files: [], cursor: null, found: 3 }) }, /additional/],
    [
      'a member of a file',
      { ...LIST, json: JSON.stringify({ files: [{ ...EXAMPLE_FILE, path: 'a' }], cursor: null }) },
      /additional/,
    ],
    ['a missing member', { ...LIST, json: JSON.stringify({ files: [incomplete], cursor: null }) }, /sha256/],
    ['a type', { ...LIST, json: JSON.stringify({ files: [], cursor: 3 }) }, /cursor/],
    ['a media type', { ...LIST, headers: { ...LIST.headers, 'content-type': 'text/plain' } }, /text\/plain/],
    ['a missing header', { ...LIST, headers: { 'content-type': 'application/json' } }, /Cache-Control/],
    ['a missing body', { ...LIST, json: '', hasBody: false }, /no JSON body/],
    ['a body of HEAD', { ...LIST, method: 'HEAD' }, /body of HEAD/],
    ['a body of 304', { ...delivered(), status: 304 }, /body that is not documented/],
  ]
  for (const [name, seen, expected] of refused)
    it(`refuses ${name} that is not documented`, () => {
      expect(undocumented(seen)).to.match(expected)
    })
})

function delivered(): SeenResponse {
  const headers = { 'cache-control': 'public' }
  return {
    ...LIST,
    route: '/v1/:group/upload/:token/*path',
    group: 'image',
    headers,
    json: '',
    hasBody: true,
  }
}
