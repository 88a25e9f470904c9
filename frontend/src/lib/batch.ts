/** What is asked within so many ms of the first question shares its request. */
const wait = 5;

/**
 * Batches questions that are asked at the same moment into one request, at most so many of them. ask
 * must return the answers in the order of the questions.
 */
export function batched<Q, A>(
  most: number,
  ask: (questions: Q[]) => Promise<readonly A[]>,
): (question: Q) => Promise<A> {
  let batch: { questions: Q[]; answers: Promise<readonly A[]> } | undefined;
  const begin = () => {
    const questions: Q[] = [];
    const answers = new Promise((resolve) => setTimeout(resolve, wait)).then(() => {
      if (batch?.questions === questions) batch = undefined;
      return ask(questions);
    });
    return { questions, answers };
  };
  return async (question) => {
    if (!batch || batch.questions.length >= most) batch = begin();
    const { questions, answers } = batch;
    const place = questions.push(question) - 1;
    const all = await answers;
    if (place >= all.length) throw new Error(`${all.length} answers to ${questions.length} questions`);
    return all[place] as A;
  };
}
