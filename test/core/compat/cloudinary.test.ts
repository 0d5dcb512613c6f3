import { createHash } from 'node:crypto'
import { expect } from 'chai'
import { readCloudinaryUrl } from '../../../src/core/compat/cloudinary.ts'
import { Problem } from '../../../src/core/problem.ts'

const segmentsOf = (path: string) => path.split('/').map(decodeURIComponent)
const read = (path: string) => {
  const { source, query, group } = readCloudinaryUrl(segmentsOf(path))
  const place =
    'url' in source
      ? source.url
      : source.names
          // Without an extension, further names follow, see below.
          .slice(0, /\.\w+$/.test(source.names[0]?.name ?? '') || group === 'video' ? 2 : 1)
          .map(({ name, format }) => `${name}${format ? ` as ${format}` : ''}`)
          .join(' | ')
  return `${group} ${place} ${[...query]
    .map(([name, value]) => `${name}=${value}`)
    .sort()
    .join('&')}`
}
const refusal = (path: string): Problem => {
  try {
    readCloudinaryUrl(segmentsOf(path))
  } catch (error) {
    if (error instanceof Problem) return error
    throw error
  }
  throw new Error(`${path} was accepted`)
}

describe('URLs of Cloudinary', () => {
  const CASES: ReadonlyArray<readonly [url: string, ours: string]> = [
    ['image/upload/a.jpg', 'image a.jpg | a as jpeg '],
    ['image/upload/v1571218039/folder/a.png', 'image folder/a.png | folder/a as png '],
    ['image/upload/sample', 'image sample '],
    ['image/upload/w_300/a.jpg', 'image a.jpg | a as jpeg enlarge=1&w=300'],
    ['image/upload/w_300,h_200/a.jpg', 'image a.jpg | a as jpeg enlarge=1&fit=fill&h=200&w=300'],
    [
      'image/upload/c_fill,g_face,h_200,w_300/a.jpg',
      'image a.jpg | a as jpeg enlarge=1&fit=cover&func=face&h=200&w=300',
    ],
    ['image/upload/c_limit,w_800/f_auto/q_auto/v1/x/a.jpg', 'image x/a.jpg | x/a f=auto&fit=inside&w=800'],
    ['image/upload/c_lfill,w_8,h_9/a', 'image a fit=cover&h=9&w=8'],
    ['image/upload/c_pad,b_rgb:FF8800,w_8,h_9/a', 'image a bg=FF8800&enlarge=1&fit=contain&h=9&w=8'],
    ['image/upload/c_crop,x_10,y_20,w_300,h_200/a', 'image a crop=10,20,300,200'],
    ['image/upload/ar_16:9,c_fill,w_400/a', 'image a ar=16:9&enlarge=1&fit=cover&w=400'],
    ['image/upload/ar_1.5,c_fill,w_400/a', 'image a ar=1.5:1&enlarge=1&fit=cover&w=400'],
    ['image/upload/q_auto:best,f_jpg/a', 'image a f=jpeg&q=85'],
    ['image/upload/q_60,dpr_2.0,w_10/a', 'image a dpr=2.0&enlarge=1&q=60&w=10'],
    ['image/upload/dpr_auto,w_10/a', 'image a dpr=auto&enlarge=1&w=10'],
    ['image/upload/c_thumb,w_100,h_100,r_max/a', 'image a enlarge=1&fit=cover&h=100&radius=50&w=100'],
    ['image/upload/c_fill,w_200,h_200,r_20/a', 'image a enlarge=1&fit=cover&h=200&radius=10&w=200'],
    ['image/upload/a_90/a', 'image a rotate=90'],
    ['image/upload/c_scale,w_300/a_90/a', 'image a enlarge=1&fit=fill&rotate=90&w=300'],
    ['image/upload/c_lpad,g_center,w_8,h_9/a', 'image a fit=contain&func=center&h=9&w=8'],
    ['image/upload/a_hflip/a', 'image a flop=1'],
    ['image/upload/e_grayscale/a', 'image a greyscale=1'],
    ['image/upload/e_brightness:-50/a', 'image a brightness=0.5'],
    ['image/upload/fl_progressive,w_9/a', 'image a enlarge=1&w=9'],
    ['image/upload/fl_attachment:my_name,w_9/a', 'image a download=my_name&enlarge=1&w=9'],
    ['image/upload/t_thumb/a', 'image a preset=thumb'],
    ['image/upload/pg_2/a', 'image a page=2'],
    ['image/fetch/w_300/http://127.0.0.1/x.png', 'image http://127.0.0.1/x.png enlarge=1&w=300'],
    ['image/upload/my_folder/w_fall/a.jpg', 'image my_folder/w_fall/a.jpg | my_folder/w_fall/a as jpeg '],
    ['video/upload/so_2.5,eo_7/a.mp4', 'video a.mp4 | a as mp4 end=7&start=2.5'],
    ['video/upload/so_2,du_5,q_auto/a.webm', 'video a.webm | a as webm end=7&q_auto=1&start=2'],
    ['video/upload/ac_none,w_640/a.mp4', 'video a.mp4 | a as mp4 mute=1&w=640'],
    ['video/upload/so_1.5,w_320/a.jpg', 'video a | a.mp4 duration=15&f=jpeg&thumbnail=1&w=320'],
  ]
  for (const [url, ours] of CASES) it(`${url} is ${ours}`, () => expect(read(url)).to.equal(ours))

  it('may have another extension than the file', () => {
    const namesOf = (path: string) => {
      const { source } = readCloudinaryUrl(segmentsOf(path))
      return 'url' in source ? [] : source.names.map(({ name, format }) => `${name} ${format ?? ''}`.trim())
    }
    expect(namesOf('image/upload/p/a.png')).to.deep.equal([
      'p/a.png',
      ...['p/a', 'p/a.jpg', 'p/a.jpeg', 'p/a.webp', 'p/a.gif'].map((name) => `${name} png`),
    ])
    expect(namesOf('image/upload/p/a')).to.deep.equal([
      ...['p/a', 'p/a.jpg', 'p/a.jpeg', 'p/a.png', 'p/a.webp', 'p/a.gif'],
    ])
    expect(namesOf('video/upload/a.mp4')).to.deep.equal(['a.mp4', 'a mp4', 'a.mov mp4', 'a.webm mp4'])
    expect(namesOf('video/upload/a.jpg')).to.deep.equal(['a', 'a.mp4', 'a.mov', 'a.webm'])
  })

  for (const [url, option] of [
    ['image/upload/e_sepia/a', 'e_sepia'],
    ['image/upload/l_logo,w_100/a', 'l_logo'],
    ['image/upload/w_0.5/a', 'w_0.5'],
    ['image/upload/w_auto/a', 'w_auto'],
    ['image/upload/c_crop,w_10,h_10/a', 'c_crop'],
    ['image/upload/c_imagga_scale,w_10/a', 'c_imagga_scale'],
    ['image/upload/g_xy_center,w_10/a', 'g_xy_center'],
    ['image/upload/r_20,w_10,h_20/a', 'r_20'],
    ['image/upload/w_300/w_200/a', 'w_200'],
    // In another order than here.
    ['image/upload/a_90/c_scale,w_300/a', 'c_scale'],
    ['image/upload/r_20/w_300,h_300/a', 'w_300'],
    ['image/upload/w_300/e_trim/a', 'e_trim'],
    // The image is at one side of the padding there.
    ['image/upload/c_pad,g_north,w_300,h_300/a', 'g_north'],
    ['image/upload/if_w_gt_300/a', 'if_w_gt_300'],
    ['image/upload/$size_300/a', '$size_300'],
    ['image/upload/f_jxl/a', 'f_jxl'],
    ['image/facebook/a', 'facebook'],
  ] as const)
    it(`${url} is a 400, which names ${option}`, () => {
      const { status, code, members } = refusal(url)
      expect({ status, code, members }).to.deep.equal({
        status: 400,
        code: 'no_equivalent',
        members: { received: option },
      })
    })

  for (const url of [
    'image',
    'image/upload',
    'image/upload/w_300',
    'image/upload/v1',
    'audio/upload/a.mp3',
    '__proto__/upload/a',
  ])
    it(`${url} is a 404`, () => expect(refusal(url)).to.include({ status: 404 }))

  it('have a signature of SHA-1 or SHA-256, without the version', () => {
    const secret = 'their secret'
    const digest = (algorithm: string) =>
      createHash(algorithm).update(`w_300/folder/a.jpg${secret}`).digest('base64url')
    const signed = (signature: string, change = '') =>
      readCloudinaryUrl(segmentsOf(`image/upload/s--${signature}--/w_300${change}/v12/folder/a.jpg`), {
        secret,
      }).isSigned
    expect(signed(digest('sha1').slice(0, 8))).to.equal(true)
    expect(signed(digest('sha256').slice(0, 32))).to.equal(true)
    for (const [signature, change] of [
      [digest('sha1').slice(0, 8), '0'],
      ['AAAAAAAA', ''],
    ] as const)
      expect(() => signed(signature, change), signature).to.throw(Problem)
    expect(readCloudinaryUrl(segmentsOf('image/upload/s--AAAAAAAA--/w_300/a')).isSigned).to.equal(false)
  })
})
