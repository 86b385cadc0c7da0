import sys, random, json, anyio, traceback
from collections import Counter
from tests.properties.random_flows import ASKING, sample, Program
from tests.properties.sittings import Life, MENDED, Sitting
from tests.properties.count_durable import script_of
from tests.properties.test_forks import fork, reached, root_of
from tests.properties.diary import Diary
from hypothesis.errors import UnsatisfiedAssumption
import warnings; warnings.simplefilter("ignore")
async def one(seed):
    choose=random.Random(seed)
    program=sample(seed,most=25,weights=ASKING)
    first=Life(program,choose)
    if not first.expected.is_decided: return
    try:
        await first.sit(Sitting())
        for s in script_of(choose)[:4]:
            if not first.has_ended: await first.sit(s)
        if choose.random()<.5: await first.end()
    except AssertionError as e:
        print("source", seed); return
    inputs={}
    if choose.random()<.6: inputs["x"]=choose.choice((0, 1, 2, 3, "", None))
    if choose.random()<.4: inputs["y"]=choose.choice((0, 1, 5, "", None))
    if choose.random()<.3: inputs["xs"]=[choose.choice((0,1,"",4)) for _ in range(choose.randrange(5))]
    source=first.store.journal(); before, run = Diary.of(source), first.store.run
    try: second=await fork(first, inputs, choose)
    except UnsatisfiedAssumption: return
    again=reached(program,set(inputs))
    lost=[p for p in before.done.difference(second.taken) if root_of(p) not in again]
    assert before.failures or not lost, lost
    await second.end()
    return len(second.taken), len(before.done)
async def main(a,b):
    bad=0; tot=Counter()
    for seed in range(a,b):
        try:
            with anyio.fail_after(60): r=await one(seed)
            if r: tot["runs"]+=1; tot["kept"]+=r[0]; tot["done"]+=r[1]
        except BaseException as e:
            bad+=1
            print("seed",seed, type(e).__name__, str(e)[:300]); tb=traceback.extract_tb(e.__traceback__)[-1]; print("   ",tb.filename.split("/")[-1],tb.lineno,tb.line)
            if bad>8: break
    print(tot)
if __name__=="__main__": anyio.run(main,int(sys.argv[1]),int(sys.argv[2]))
