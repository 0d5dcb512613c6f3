import { Problem } from '../../core/problem.ts'

/** 400: a stream or a storyboard has several files. The main file alone is useless: it only refers to the others. */
export function severalFiles(): Problem {
  return new Problem({
    status: 400,
    code: 'several_files',
    detail: 'This transformation creates several files. It cannot be downloaded as one file or archived.',
  })
}

export function transformOfDerivative(): Problem {
  return new Problem({
    status: 400,
    code: 'transform_of_derivative',
    detail: 'expected no parameters for a derivative: transform its original',
  })
}
