// What the client makes of the cases of vectors, from given random bytes: in node and in browsers.

const LAYER_LENGTH = 32 + 16;
const HEAD_LENGTH = 19;
const PKCS8 = "302e020100300506032b656e04220420"; // before the 32 bytes of a private X25519 key
const URL_ = "https://collector.example";

const planOf = (krand, { plan, hash }) => krand.Plan.parse(new TextEncoder().encode(plan), hash);

/** A clock that stands where a round begins. */
const during = ({ survey: { schedule } }, round) => () =>
  schedule ? Date.parse(schedule.opens[round - schedule.first]) : Date.now();

/** The hops whose layers a message has, the innermost first. */
function hopsOf(plan) {
  const hops = [0];
  for (let hop = plan.mixers.length; hop > 1; hop--) hops.push(hop);
  return hops;
}

/** A source of exactly these bytes, and how many of them are left. */
function given(krand, hex) {
  const bytes = krand.fromHex(hex);
  let used = 0;
  const random = new krand.Random((target) => {
    if (used + 4 > bytes.length) throw new Error("no more random bytes");
    target.set(bytes.subarray(used, (used += 4)));
  }, 4);
  return { random, left: () => bytes.length - used };
}

/** Everything that a case states, found anew from its plan, answers and random bytes. */
async function found(krand, asked) {
  const plan = await planOf(krand, asked);
  const now = during(plan, asked.round);
  const client = new krand.Client(plan, { url: URL_, ledger: new krand.MemoryLedger(), now });
  const positions = client.encode(asked.answers);
  const isRecord = plan.survey.linkage === "record";
  const reported = isRecord
    ? null
    : krand.reportedPositions(plan, positions, given(krand, asked.randomness).random);
  const { random, left } = given(krand, asked.randomness);
  const lanes = krand.messagesOf(plan, positions, random);
  const hops = hopsOf(plan);
  const messages = lanes.flatMap(({ lane, plaintexts }) => {
    const infos = hops.map((hop) =>
      krand.toHex(krand.layerInfo(hop, plan.hash, asked.round, lane.number)),
    );
    return plaintexts.map((each) => ({ lane: lane.number, plaintext: krand.toHex(each), infos }));
  });
  const invitation = asked.invitation ?? undefined;
  const id = (await krand.invitedId(plan, asked.round, invitation)) ?? random.bytes(16);
  const sealed = ({ plaintext }) => plaintext.length / 2 + LAYER_LENGTH * hops.length;
  return {
    true_positions: positions,
    reported_positions: reported,
    messages,
    id: krand.toHex(id),
    submission_length: messages.reduce((sum, each) => sum + sealed(each), HEAD_LENGTH),
    left: left(),
  };
}

/** Code and field of the error for wrong answers; positions if there is none. */
async function refusal(krand, asked) {
  const plan = await planOf(krand, asked);
  const client = new krand.Client(plan, { url: URL_, ledger: new krand.MemoryLedger() });
  try {
    return { positions: client.encode(asked.answers) };
  } catch (error) {
    return { code: error.code, field: error.field };
  }
}

/** The positions of answers that are given in another language of the survey. */
async function worded(krand, asked) {
  const plan = await planOf(krand, asked);
  const survey = krand.inLanguage(plan.survey, asked.language);
  const client = new krand.Client(plan.worded(survey), { url: URL_, ledger: new krand.MemoryLedger() });
  const own = krand.reworded(asked.answers, survey, plan.survey);
  return { positions: client.encode(asked.answers), own, title: survey.title ?? null, questions: survey.question };
}

/** The code of the error that some work ends with; null if there is none. */
async function failure(work) {
  try {
    await work();
    return null;
  } catch (error) {
    return error.code;
  }
}

/** Why a plan is not taken that has exactly the hash of its bytes. */
async function wrongPlan(krand, { plan }) {
  const bytes = new TextEncoder().encode(plan);
  return failure(async () => krand.Plan.parse(bytes, krand.toHex(krand.sha256(bytes))));
}

/** Why nothing is made for a plan with these signatures. */
async function wrongSignatures(krand, { signatures, round, ...asked }) {
  const plan = await planOf(krand, asked);
  const options = { url: URL_, ledger: new krand.MemoryLedger(), signatures, now: during(plan, round) };
  return failure(() => new krand.Client(plan, options).prepare({}, { round }));
}

/** The ids that a code gives in some rounds of a plan; null where it is no code. */
async function ids(krand, { code, hash, rounds }) {
  const plan = { hash, survey: { invitations: true } };
  try {
    const made = await Promise.all(rounds.map((round) => krand.invitedId(plan, round, code)));
    return made.map(krand.toHex);
  } catch (error) {
    if (error.code !== "invalid-invitation") throw error;
    return null;
  }
}

/** Runs a piece of work while a method of the platform is replaced. */
async function replaced(owner, name, method, work) {
  owner[name] = method;
  try {
    return await work();
  } finally {
    delete owner[name]; // the platform's own is on the prototype
  }
}

/**
 * The body that `prepare` makes while the platform's generator gives the bytes of the case; what is
 * left of a chunk is truly random.
 */
async function prepared(krand, asked) {
  const bytes = krand.fromHex(asked.randomness);
  const realBytes = globalThis.crypto.getRandomValues.bind(globalThis.crypto);
  let used = 0;
  const fill = (target) => {
    realBytes(target);
    target.set(bytes.subarray(used, used + target.length));
    used += target.length;
    return target;
  };
  const { signatures, round, answers } = asked;
  const plan = await planOf(krand, asked);
  const options = { url: URL_, ledger: new krand.MemoryLedger(), signatures, now: during(plan, round) };
  const client = new krand.Client(plan, options);
  const wanted = { round, invitation: asked.invitation ?? undefined };
  await krand.Sealer.of(client.plan, round); // what the platform can do is tried once, with draws
  return replaced(globalThis.crypto, "getRandomValues", fill, async () =>
    krand.toHex((await client.prepare(answers, wanted)).body),
  );
}

/** A key pair of X25519 from its private key; both keys can be exported. */
async function pairOf(krand, privateHex) {
  const { subtle } = await krand.webcrypto();
  const name = "X25519";
  const whole = krand.fromHex(PKCS8 + privateHex);
  const privateKey = await subtle.importKey("pkcs8", whole, { name }, true, ["deriveBits"]);
  const { kty, crv, x } = await subtle.exportKey("jwk", privateKey);
  const publicKey = await subtle.importKey("jwk", { kty, crv, x }, { name }, true, []);
  return { privateKey, publicKey };
}

/**
 * A message in all its layers, with these ephemeral keys, the innermost first. The package draws
 * them with `generateKey` and takes none from its caller; here that call returns the given ones.
 */
async function sealedWith(krand, { ephemerals, lane, plaintext, round, ...asked }) {
  const sealer = await krand.Sealer.of(await planOf(krand, asked), round);
  const pairs = [];
  for (const each of ephemerals) pairs.push(await pairOf(krand, each));
  const next = async () => pairs.shift() ?? Promise.reject(new Error("no more keys"));
  const sealed = await replaced(globalThis.crypto.subtle, "generateKey", next, () =>
    sealer.seal(lane, krand.fromHex(plaintext)),
  );
  return { sealed: krand.toHex(sealed), left: pairs.length };
}

const ABOUT_VECTORS = { found, ids, prepared, refusal, sealedWith, worded, wrongPlan, wrongSignatures };

export { ABOUT_VECTORS };
