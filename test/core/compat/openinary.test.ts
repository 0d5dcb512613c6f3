import { createHmac } from 'node:crypto'
import { expect } from 'chai'
import { readOpeninaryUrl } from '../../../src/core/compat/openinary.ts'
import { Problem } from '../../../src/core/problem.ts'

const read = (path: string) => {
  const { source, query, group } = readOpeninaryUrl(path.split('/'))
  const place = 'url' in source ? source.url : source.names.map(({ name }) => name).join(' | ')
  return `${group} ${place} ${[...query]
    .map(([name, value]) => `${name}=${value}`)
    .sort()
    .join('&')}`
}

describe('URLs of openinary', () => {
  const CASES: ReadonlyArray<readonly [url: string, ours: string]> = [
    ['t/w_800,h_600/image.jpg', 'image image.jpg enlarge=1&f=auto&h=600&w=800'],
    [
      't/w_400,h_400,c_fill,g_face,f_webp/x/portrait.jpg',
      'image x/portrait.jpg enlarge=1&f=webp&fit=cover&func=face&h=400&w=400',
    ],
    ['t/ar_16:9,w_1920,q_80/banner.jpg', 'image banner.jpg ar=16:9&enlarge=1&f=auto&q=80&w=1920'],
    [
      't/w_400,h_300,c_pad,b_rgb:f5f5f5/a.jpg',
      'image a.jpg bg=f5f5f5&enlarge=1&f=auto&fit=contain&h=300&w=400',
    ],
    ['t/w_400,h_400,r_max,f_png/a.jpg', 'image a.jpg enlarge=1&f=png&h=400&radius=50&w=400'],
    ['t/image.jpg', 'image image.jpg '],
    ['t/thumbnail_time_5/a.jpg', 'image thumbnail_time_5/a.jpg '],
    ['t/so_5,eo_12/clip.mp4', 'video clip.mp4 end=12&start=5'],
    ['t/w_1280,h_720,q_80/clip.mp4', 'video clip.mp4 h=720&q_auto=1&w=1280'],
    ['t/t_true,tt_5.5,f_webp,w_500/clip.mp4', 'video clip.mp4 duration=55&f=webp&thumbnail=1&w=500'],
  ]
  for (const [url, ours] of CASES) it(`${url} is ${ours}`, () => expect(read(url)).to.equal(ours))

  it('with an option that has no equivalent are a 400', () => {
    for (const option of ['c_thumb', 'g_north_center', 'r_20:80'])
      expect(() => read(`t/w_10,${option}/a.jpg`), option).to.throw(Problem, 'no equivalent')
  })

  it('have a signature', () => {
    const secret = '0123456789abcdef'
    const signature = createHmac('sha256', secret).update('w_300/a/b.jpg').digest('hex').slice(0, 16)
    const signed = (path: string) => readOpeninaryUrl(path.split('/'), { secret }).isSigned
    expect(signed(`authenticated/s--${signature}/w_300/a/b.jpg`)).to.equal(true)
    expect(signed('t/w_300/a/b.jpg')).to.equal(false)
    expect(() => signed(`authenticated/s--${signature}/w_301/a/b.jpg`)).to.throw(Problem, 'Invalid signature')
    for (const path of ['authenticated/w_300/a.jpg', 't', 'x/a.jpg', 'authenticated'])
      expect(() => signed(path), path).to.throw(Problem)
  })
})
