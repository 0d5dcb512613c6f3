import { expect } from 'chai'
import type { Grant } from '../../../src/core/clients/grant.ts'
import { assetNotFound, badParameter, Problem } from '../../../src/core/problem.ts'
import { checkAliasTarget } from '../../../src/http/signing/alias-target.ts'
import type { Deliveries } from '../../../src/service/delivery/deliveries.ts'

const target = { name: 'shop/a', group: 'image', query: [] }
const client = { id: 'shop', token: 'pub_shop', secrets: [], createdAt: 0 }
const refusal = badParameter({ param: 'w', expected: 'another format' })

describe('a signature of an alias, whose file may get another format later', () => {
  /** The plan for each format: none when it has no problem. */
  const check = (problems: Record<string, Problem>, grant: Grant = { client, folder: 'shop' }) => {
    const plan: Deliveries['plan'] = ({ format }) => {
      const problem = problems[format.name] ?? problems.others
      if (problem) throw problem
      return undefined as never
    }
    checkAliasTarget(target, { grant, deliveries: { plan } })
  }

  it('is given when the parameters are valid for one format', () => {
    check({})
    check({ gif: refusal })
    expect(() => check({ others: refusal }))
      .to.throw(Problem)
      .with.property('code', 'bad_parameter')
  })

  it('is refused when the parameters name a file outside of the folder in one format', () => {
    const outside = { gif: assetNotFound('wm', 'other/a.png'), jpeg: refusal }
    expect(() => check(outside))
      .to.throw(Problem)
      .with.property('code', 'asset_not_found')
    check(outside, { client })
  })
})
