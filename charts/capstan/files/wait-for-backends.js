// Ends when every place named by its arguments (host:port) takes connections; says which one it waits for.
const { connect } = require('node:net');
const { setTimeout: sleep } = require('node:timers/promises');

const answers = (host, port) =>
  new Promise((resolve) => {
    const socket = connect({ host, port });
    const end = (answer) => {
      socket.destroy();
      resolve(answer);
    };
    socket.setTimeout(2000, () => end(false));
    socket.once('connect', () => end(true));
    socket.once('error', () => end(false));
  });

const wait = async (place) => {
  const [, host, port] = /^(.+):(\d+)$/.exec(place);
  while (!(await answers(host, Number(port)))) {
    console.log(`waiting for ${place}`);
    await sleep(1000);
  }
  console.log(`${place} answers`);
};

void Promise.all(process.argv.slice(1).map(wait));
