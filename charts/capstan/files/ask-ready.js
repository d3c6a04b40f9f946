// Prints what each of these addresses answers, and fails unless all answer 200.
const ask = async (url) => {
  try {
    const response = await fetch(url, { signal: AbortSignal.timeout(10_000) });
    console.log(url, response.status, await response.text());
    return response.ok;
  } catch (error) {
    console.log(url, String(error.cause ?? error));
    return false;
  }
};

void Promise.all(process.argv.slice(1).map(ask)).then((answers) => process.exit(answers.every(Boolean) ? 0 : 1));
