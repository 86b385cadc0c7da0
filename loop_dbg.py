import sys,json,anyio
import loop_fork
from tests.properties import sittings
seed=int(sys.argv[1])
async def go():
    orig=loop_fork.fork
    async def f(first, inputs, choose):
        print(json.dumps(first.program.document)); print(first.program.inputs, inputs); loop_fork.inp=inputs
        for r in first.store.journal(): print("  S",r.seq,r.kind,r.path,r.data[:160])
        print("healed",first.healed)
        sec=await orig(first,inputs,choose)
        for r in sec.store.journal(): print("  F",r.seq,r.kind,r.path,r.data[:160])
        loop_fork.sec=sec
        return sec
    loop_fork.fork=f
    try: await loop_fork.one(seed)
    except BaseException as e:
        for r in loop_fork.sec.store.journal(): print("  E",r.seq,r.kind,r.path,r.data[:200])
        print({k:v for k,v in loop_fork.sec.expected.outcome.outputs.items()}); print(loop_fork.sec.played and loop_fork.sec.played.result.outputs)
        sec=loop_fork.sec; print('FIRED missing', sec.expected.fired-sec.fired, 'extra', sec.fired-sec.expected.fired)
        raise
anyio.run(go)
