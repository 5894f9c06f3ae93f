import { assert, describe, it } from "@effect/vitest";
import { ApiFailure } from "#lib/client/api-failure.ts";
import {
  afterFailure,
  commandToSend,
  firstTryStands,
  type Intention,
  type SentCommand,
} from "#lib/client/sent-command.ts";
import { IdempotencyConflict, NotFound } from "#lib/contract/errors.ts";

const lost = new ApiFailure({ _tag: "NoAnswerInTime", message: "nothing came", seconds: 12 });
const refused = new ApiFailure(new NotFound({ message: "no such run", what: "run" }));
const conflict = new ApiFailure(new IdempotencyConflict({ message: "used", key: "c1" }));

/** Ids in order, so that a repeated one is seen. */
const ids = () => {
  let next = 0;
  return () => `c${(next += 1)}`;
};

const say = (verb: string, reason: string): Intention => ({ verb, reason, content: reason });

describe("a command and its repeats", () => {
  it("[C021][C062] the same words go out under the same id, other words under a new one", () => {
    const newId = ids();
    const first = commandToSend(undefined, say("wake", "because"), newId);
    assert.strictEqual(
      commandToSend(first, say("wake", "because"), newId).commandId,
      first.commandId,
    );
    assert.notStrictEqual(
      commandToSend(first, say("wake", "other"), newId).commandId,
      first.commandId,
    );
  });

  it("[C039][C062] after a lost answer whatever is sent for the same verb keeps the id: it acts once at most", () => {
    const newId = ids();
    const first = commandToSend(undefined, say("wake", "because"), newId);
    const doubted = afterFailure(first, lost);
    const again = commandToSend(doubted, say("wake", "other words"), newId);
    assert.strictEqual(again.commandId, first.commandId);
    assert.strictEqual(again.content, "because");
    // Another intention is another command, whatever became of the first.
    assert.notStrictEqual(
      commandToSend(doubted, say("retry", "x"), newId).commandId,
      first.commandId,
    );
  });

  it("[C039] a conflict says that the first try was carried out only where one is in doubt", () => {
    const sent: SentCommand = { ...say("wake", "because"), commandId: "c1", inDoubt: false };
    assert.isFalse(firstTryStands(sent, conflict));
    assert.isFalse(firstTryStands(undefined, conflict));
    const doubted = afterFailure(sent, lost);
    assert.isTrue(firstTryStands(doubted, conflict));
    assert.isFalse(firstTryStands(doubted, refused));
  });

  it("[C039] a refusal makes no doubt, and does not take one away", () => {
    const sent: SentCommand = { ...say("wake", "because"), commandId: "c1", inDoubt: false };
    assert.isFalse(afterFailure(sent, refused).inDoubt);
    assert.isTrue(afterFailure(afterFailure(sent, lost), refused).inDoubt);
  });
});
