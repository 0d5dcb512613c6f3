import { expect } from 'chai'
import { formatOfMediaType } from '../../../../src/core/media/formats.ts'
import type { LoadedPlugin } from '../../../../src/pipeline/load/load.ts'
import { createPlanner, type Plan } from '../../../../src/pipeline/plan/plan.ts'
import { loadWith } from '../../load/drop-ins.ts'

describe('?storyboard', () => {
  let transforms: readonly LoadedPlugin[]
  before(async () => {
    transforms = (await loadWith({})).transforms
  })

  const planOf = (query: string): Plan =>
    createPlanner(
      transforms,
      [],
    )({ query: new URLSearchParams(query), format: formatOfMediaType('video/mp4'), preferences: {} })

  it('refuses parameters that its tiles set', () => {
    for (const [param, query] of [
      ['w', 'storyboard&w=100'],
      ['h', 'h=100&storyboard'],
      ['f', 'storyboard&f=webm'],
      ['q_a', 'storyboard&q_a'],
      ['kf', 'kf=10&storyboard'],
      ['kf_boost', 'storyboard&kf_boost'],
      ['mute', 'storyboard&mute'],
      ['hls', 'hls&storyboard'],
    ])
      expect(() => planOf(String(query))).to.throw(
        `expected no such parameter with storyboard for ${param} but received "${param}"`,
      )
    for (const query of [
      'storyboard&thumbnail',
      'storyboard&duration=1',
      'storyboard=x',
      'storyboard&blur=3',
    ])
      expect(() => planOf(query), query).to.throw(/expected|there is no parameter|cannot be combined/)
  })

  it('has a name that begins with storyboard, with the text in its folder', () => {
    expect(planOf('storyboard').variant).to.equal('storyboard/storyboard.vtt')
    expect(planOf('start=1&vt&storyboard=1').variant).to.equal('start=1&storyboard&vt=1/storyboard.vtt')
    expect(planOf('storyboard=0&w=100').variant).to.equal('w=100')
  })
})
