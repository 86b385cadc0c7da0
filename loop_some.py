import sys,anyio,loop_fork,traceback
async def go():
    for s in map(int,sys.argv[1:]):
        try:
            with anyio.fail_after(60): print(s, await loop_fork.one(s))
        except BaseException as e: print(s, "FAIL", e)
anyio.run(go)
