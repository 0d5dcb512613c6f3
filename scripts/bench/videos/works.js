/**
 * The query of a URL, and the equivalent arguments of ffmpeg, between `-i <source>` and `<target>`. `i` counts the
 * requests, each of which requests a new derivative. `before`: the arguments before the source.
 *
 * @type {{name: string, title: string, counts: object, extension: string, query: (i: number) => string, before: (i:
 *   number) => string[], after: (i: number) => string[]}[]}
 */
export const VIDEO_WORKS = [
  {
    name: 'transcode',
    title: 'A minute of 1080p to 720p, `q_a`',
    counts: { full: 1, quick: 1 },
    extension: 'mp4',
    // Another end in each request, always after the last frame but one.
    query: (i) => `q_a&end=${endOf(i)}`,
    before: () => [],
    after: (i) => [
      ...[
        '-t',
        String(endOf(i)),
        // Prevents repeated frames where the parts of the source join.
        '-vsync',
        'vfr',
        '-map_metadata',
        '-1',
        '-vf',
        'scale=-2:min(720\\,ih)',
        '-c:v',
        'libx264',
        '-preset',
        'veryfast',
      ],
      ...[
        '-crf',
        '23',
        '-maxrate',
        '4M',
        '-bufsize',
        '8M',
        '-pix_fmt',
        'yuv420p',
        '-c:a',
        'aac',
        '-b:a',
        '128k',
        '-ac',
        '2',
      ],
      ...['-movflags', '+faststart'],
    ],
  },
  {
    name: 'thumbnail',
    title: 'A frame of it as a JPEG, 480 px wide',
    counts: { full: 60, quick: 3 },
    extension: 'jpg',
    query: (i) => `thumbnail&duration=${momentOf(i)}&w=480`,
    before: (i) => ['-ss', String(momentOf(i) / 10)],
    after: () => ['-frames:v', '1', '-vf', 'scale=480:-2', '-q:v', '4'],
  },
]

function endOf(i) {
  return 100 + i
}

/** In tenths of a second, distributed over a minute. */
function momentOf(i) {
  return (i * 37) % 590
}
