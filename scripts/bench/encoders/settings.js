/**
 * The settings of sharp that are compared, by format. The first of a format is what the others are compared with:
 * the defaults of sharp. `quality` of lossy formats is added.
 *
 * @type {Record<string, {qualities?: number[], settings: [title: string, options: object][]}>}
 */
const of = (qualities, settings) => ({ qualities, settings })

const LOSSY = [55, 65, 75, 85]

export const ENCODERS = {
  jpeg: of(LOSSY, [
    ['baseline', {}],
    ['progressive', { progressive: true }],
    ['4:4:4', { chromaSubsampling: '4:4:4' }],
    ['progressive, 4:4:4', { progressive: true, chromaSubsampling: '4:4:4' }],
    ['fixed Huffman tables', { optimiseCoding: false }],
    ['trellis', { trellisQuantisation: true }],
    ['trellis, progressive', { trellisQuantisation: true, progressive: true }],
    ['optimise scans', { optimiseScans: true, progressive: true }],
    ['mozjpeg', { mozjpeg: true }],
    ['mozjpeg q-table, progressive', { quantisationTable: 3, progressive: true }],
    ['mozjpeg q-table', { quantisationTable: 3 }],
  ]),
  webp: of(LOSSY, [
    ['effort 4', { effort: 4 }],
    ...[0, 1, 2, 3, 5, 6].map((effort) => [`effort ${effort}`, { effort }]),
    ['effort 4, smart subsample', { effort: 4, smartSubsample: true }],
    ['effort 2, smart subsample', { effort: 2, smartSubsample: true }],
    ['effort 4, smart deblock', { effort: 4, smartDeblock: true }],
    ['effort 4, photo', { effort: 4, preset: 'photo' }],
    ['effort 4, picture', { effort: 4, preset: 'picture' }],
    ['effort 4, drawing', { effort: 4, preset: 'drawing' }],
    ['effort 4, text', { effort: 4, preset: 'text' }],
  ]),
  avif: of(LOSSY, [
    ['effort 4', { effort: 4 }],
    ...[0, 1, 2, 3, 5, 6].map((effort) => [`effort ${effort}`, { effort }]),
    ['effort 2, 4:2:0', { effort: 2, chromaSubsampling: '4:2:0' }],
    ['effort 3, 4:2:0', { effort: 3, chromaSubsampling: '4:2:0' }],
    ['effort 2, tune ssim', { effort: 2, tune: 'ssim' }],
    ['effort 2, tune psnr', { effort: 2, tune: 'psnr' }],
    ['effort 2, tune iq', { effort: 2, tune: 'iq' }],
  ]),
  png: of(undefined, [
    ['level 6', {}],
    ...[1, 2, 3, 4, 5, 7, 8, 9].map((compressionLevel) => [
      `level ${compressionLevel}`,
      { compressionLevel },
    ]),
    ...[1, 3, 6, 9].map((compressionLevel) => [
      `level ${compressionLevel}, adaptive`,
      { compressionLevel, adaptiveFiltering: true },
    ]),
  ]),
}
