import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'chai'
import { AUDIT } from '../../../dashboard/src/pages/audit/texts.ts'
import { REFUSED_SIGN_IN } from '../../../src/core/ports/audit-log.ts'
import { ENDPOINTS } from '../../../src/http/endpoints.ts'
import { PROJECT } from '../../support/service.ts'

const FOLDERS = [
  'src/http/console',
  'src/http/console/oidc',
  'src/http/console/passkeys',
  'src/http/tus',
  'src/service/admin',
  'src/service/members',
]
// Texts of the same form: files, and an event.
const OTHERS = ['index.html', 'none.js', 'client.changed']

describe('the actions of the audit log', () => {
  it('have a text in the console', () => {
    const sources = FOLDERS.flatMap((folder) =>
      readdirSync(join(PROJECT, folder))
        .filter((name) => name.endsWith('.ts'))
        .map((name) => readFileSync(join(PROJECT, folder, name), 'utf8')),
    )
    const named = sources.flatMap((source) => source.match(/(?<=')[a-z-]+\.(?!ts|jpg)[a-z-]+(?=')/g) ?? [])
    const ofEndpoints = ENDPOINTS.flatMap(({ audit }: { audit?: string }) => audit ?? [])
    const actions = [...new Set([...named, ...ofEndpoints, REFUSED_SIGN_IN])].filter(
      (name) => !OTHERS.includes(name),
    )
    expect(actions).to.include.members(['client.create', 'link.create', 'member.invite', 'session.sign-in'])
    expect(actions.filter((action) => AUDIT.actionOf(action) === action)).to.deep.equal([])
  })
})
